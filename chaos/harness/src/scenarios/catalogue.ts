import { killStorm } from './kill-storm.js';
import type { Scenario } from './scenario.js';

export const SCENARIOS: readonly Scenario[] = [killStorm];
