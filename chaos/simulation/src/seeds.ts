/** Dice take 32 bits of a seed: a larger one would run again what a smaller one has run. */
export const LAST_SEED = 0xffff_ffff;
