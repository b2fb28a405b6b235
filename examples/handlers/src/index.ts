export { buildReport } from './build-report.js';
export { RemindOfInvoice } from './remind-of-invoice.js';
export { sendEmail } from './send-email.js';
export { shipOrder } from './ship-order.js';
export { transferMoney } from './transfer-money.js';
