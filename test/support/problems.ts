/** Asserts that a store is consistent. A failure is a failed ledger, which the gate never repeats. */
import type { ExecutionContext } from 'ava'
import { integrityChecks } from '#core/integrity.ts'
import type { Database } from '#store/database.ts'
import { verify } from '#store/verify/verify.ts'

/** The problems that `postern verify` would report; none in a sound store. */
export const problemsOf = async ({ database }: { readonly database: Database }): Promise<readonly string[]> =>
  (await verify(database, integrityChecks(database))).problems

/** Asserts that `postern verify` would report no problem. `where` begins the message of the failure. */
export async function assertSound(t: ExecutionContext, daemon: { readonly database: Database }, where = 'verify'): Promise<void> {
  const problems = await problemsOf(daemon)
  t.deepEqual(problems, [], `ledger: ${where}: ${problems[0] ?? ''}`)
}

/** Asserts that a run of `postern verify` found no problem. */
export function assertVerified(t: ExecutionContext, { code, output }: { readonly code: number | null; readonly output: string }): void {
  t.is(code, 0, `ledger: verify: ${output.slice(-3000)}`)
}
