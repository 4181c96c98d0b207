/** Classifies failures of the database, and says which of them are temporary. */

/** Returns the SQLSTATE or the system's error code; empty if there is no code. */
export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Two transactions collided, and a repetition is correct (serialization_failure, deadlock_detected). */
export const isCollision = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error))

/** A prepared statement is missing or unexpected (invalid_sql_statement_name, …): the connection reaches another session. */
export const isOfOtherSession = (error: unknown): boolean => ['26000', '42P05'].includes(codeOf(error))

/** SQLSTATEs of a server that is unreachable, starting, stopping, out of connections, or now a standby. */
const passing = ['57P01', '57P02', '57P03', '53300', '25006', '25P02']
const network = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT']

/** The connection is unusable, but a new connection may work, now or later. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (passing.includes(code) || network.includes(code) || code.startsWith('08')) return true
  if (error instanceof AggregateError) return error.errors.every(isAway)
  return error instanceof Error && code === '' && /connection|timeout|not queryable/i.test(error.message) // error of the client library
}
