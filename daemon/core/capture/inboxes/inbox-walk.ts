/** Index range of an inbox's captures in the store. */
import type { Element } from '#store/tuple.ts'
import { foldAddress } from '../../addresses.ts'
import { captured } from '../../trace/trace.ts'
import type { Inbox } from '../capture.ts'
import { catchAll } from '../inbox-pattern.ts'

export interface Walk {
  readonly pattern: string
  /** Undefined: the captures themselves. */
  readonly index?: string
  readonly values: readonly Element[]
}

/** Returns the range of an inbox's captures in order of arrival. */
export function walkOf({ projectId, addressPattern }: Inbox, address: string = addressPattern): Walk {
  const pattern = foldAddress(address)
  return pattern === catchAll ? { pattern, values: [projectId, captured] } : { pattern, index: 'address', values: [projectId, pattern] }
}
