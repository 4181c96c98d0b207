/** Core and URL for documents generated without a daemon. */
import type { RestCore } from './rest-core.ts'

/** The values of the core that descriptions of operations use. */
export const describedCore = { maxReportBytes: 1 } as RestCore
export const describedService = { baseUrl: 'http://127.0.0.1:8080', version: '1' }
