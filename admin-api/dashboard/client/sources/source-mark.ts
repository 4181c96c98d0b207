/** How a bounce source is. */
import type { IngestSource } from '../wire/operations.ts'

/** What is wrong stands before what is there. */
export const markOf = ({ imap, last_seen_at: seen }: Pick<IngestSource, 'imap' | 'last_seen_at'>): string =>
  imap?.last_error != null ? 'failed' : seen === null && imap?.last_polled_at == null ? 'pending' : 'ok'
