/** The service as documents describe it that no daemon serves. */
import type { RestCore } from './rest-core.ts'

/** As much of a core as the words of the operations contain. */
export const describedCore = { maxReportBytes: 1 } as RestCore
export const describedService = { baseUrl: 'http://127.0.0.1:8080', version: '1' }
