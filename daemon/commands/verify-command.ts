/** `postern verify`: opens the data of a stopped daemon and compares everything with everything that must agree with it. */
import type { Config } from '#config/settings/load.ts'
import { integrityChecks } from '#core/integrity.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { verify } from '#store/verify/verify.ts'
import { hasStore, storeFolder } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { StartRefused } from '../process/start-refused.ts'

/** Prints what was found; ends with 1 when anything disagrees. */
export async function verifyStore({ dataDir }: Config, out: { write(text: string): unknown }): Promise<ExitCode> {
  if (!(await hasStore(dataDir)))
    throw new StartRefused(`There is no data in ${dataDir}; set POSTERN_DATA_DIR to the folder that the daemon uses.`, exitCodes.failed)
  await using kv = await LevelKv.open(storeFolder(dataDir))
  const database = new Database(kv)
  const report = await verify(database, { ...integrityChecks(database), missingGroups: kv.missingGroups })
  for (const problem of report.problems) out.write(`${problem}\n`)
  const { records, indexRows, contents, queueEntries, problems } = report
  out.write(
    `${records} records, ${indexRows} index rows, ${contents} contents, ${queueEntries} queue entries: ${problems.length === 0 ? 'all agree' : `${problems.length} problems`}\n`,
  )
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed
}
