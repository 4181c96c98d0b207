/** What went wrong at the database, and whether it passes. */

/** The SQLSTATE, or the code of the system; empty for none. */
export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Two transactions stood in each other's way: the same again is right (serialization_failure, deadlock_detected). */
export const isCollision = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error))

/** What was prepared is not there, or what was not is (invalid_sql_statement_name, …): another session serves the connection. */
export const isOfOtherSession = (error: unknown): boolean => ['26000', '42P05'].includes(codeOf(error))

/** SQLSTATE classes and codes of a server that is away, starting, stopping, full of connections, or a standby by now. */
const passing = ['57P01', '57P02', '57P03', '53300', '25006', '25P02']
const network = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT']

/** The connection is of no use any more, but another one, now or later, may be. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error)
  if (passing.includes(code) || network.includes(code) || code.startsWith('08')) return true
  if (error instanceof AggregateError) return error.errors.every(isAway)
  return error instanceof Error && code === '' && /connection|timeout|not queryable/i.test(error.message) // of the client itself
}
