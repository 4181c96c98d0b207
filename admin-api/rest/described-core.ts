/** Core and address for documents that are generated without a daemon. */
import type { RestCore } from './rest-core.ts'

/** Values of the core that descriptions of operations contain. */
export const describedCore = { maxReportBytes: 1 } as RestCore
export const describedService = { baseUrl: 'http://127.0.0.1:8080', version: '1' }
