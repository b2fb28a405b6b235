export { installPackages } from './debian-packages.js';
export { runStackCommand } from './stack-command.js';
export { SERVICES, type ServiceName } from './service.js';
export { StackError } from './stack-error.js';
export { Stack, type RunningServer, type ServerState, type StackOptions } from './stack.js';
export { type ServerRecord, type StackRecord } from './stack-record.js';
