export { ApiModule } from './api.module.js';
export type { ApiParts } from './api.module.js';
export { createApiApp } from './create-api-app.js';
export type { ApiAppOptions } from './create-api-app.js';
export { measureHttp } from './http/measure-http.js';
