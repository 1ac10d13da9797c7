mod analysis;
