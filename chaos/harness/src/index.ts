export { CHECKS } from './checks/checks.js';
export { SCENARIOS } from './scenarios/catalogue.js';
