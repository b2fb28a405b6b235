export { Dice } from './dice.js';
export { planFaults } from './fault-plan.js';
export type { Fault, FaultPlan } from './fault-plan.js';
export { runPlan, runSeed } from './schedule.js';
export type { Measures, ScheduleResult } from './schedule.js';
