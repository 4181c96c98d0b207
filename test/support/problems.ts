/** What contradicts itself in a store. */
import { integrityChecks } from '#core/integrity.ts'
import type { Database } from '#store/database.ts'
import { verify } from '#store/verify/verify.ts'

/** The problems that `postern verify` would report; none in a sound store. */
export const problemsOf = async ({ database }: { readonly database: Database }): Promise<readonly string[]> =>
  (await verify(database, integrityChecks(database))).problems
