/** A core for those who describe the operations and run none: nothing of it is called before a request comes. */
import type { RestCore } from './rest-core.ts'

const facts = { baseUrl: 'https://mail.example', maxSendBodyBytes: 1, maxReportBytes: 1 }
const later: unknown = new Proxy(() => undefined, { get: () => later, apply: () => later })

export const describedCore = new Proxy(facts, { get: (own, name) => (Reflect.get(own, name) as unknown) ?? later }) as unknown as RestCore
