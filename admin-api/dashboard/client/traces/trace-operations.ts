/** What the list of traces asks with. */
import { listTraces, listDestinations } from '../wire/operations.ts'
import type { InputOf } from '../wire/operation.ts'

export { listTraces, listDestinations }
export type InputOfTraces = InputOf<typeof listTraces>
