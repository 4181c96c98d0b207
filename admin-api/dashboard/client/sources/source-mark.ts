/** Mark for the state of a bounce source. */
import type { IngestSource } from '../wire/operations.ts'

/** Returns the mark. An error has priority over earlier reports. */
export const markOf = ({ imap, last_seen_at: seen }: Pick<IngestSource, 'imap' | 'last_seen_at'>): string =>
  imap?.last_error != null ? 'failed' : seen === null && imap?.last_polled_at == null ? 'pending' : 'ok'
