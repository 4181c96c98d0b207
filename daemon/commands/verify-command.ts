/** `postern verify`: compares everything that is stored with everything that must agree with it, in the running daemon or in its data. */
import type { Config } from '#config/settings/load.ts'
import { integrityChecks } from '#core/integrity.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { verify, type VerifyReport } from '#store/verify/verify.ts'
import { verifyPath } from '../../admin-api/operator/operator-backup.ts'
import { hasStore, requireRestored, storeFolder } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { runningDaemon } from '../process/operator-file.ts'
import { StartRefused } from '../process/start-refused.ts'
import { callDaemon } from './daemon-client.ts'

/** Prints what was found; ends with 1 when anything disagrees. */
export async function verifyStore({ dataDir }: Config, out: { write(text: string): unknown }): Promise<ExitCode> {
  if (!(await hasStore(dataDir)))
    throw new StartRefused(`There is no data in ${dataDir}; set POSTERN_DATA_DIR to the folder that the daemon uses.`, exitCodes.failed)
  await requireRestored(dataDir)
  const report = await reportOf(dataDir)
  for (const problem of report.problems) out.write(`${problem}\n`)
  const { records, indexRows, contents, queueEntries, problems } = report
  out.write(
    `${records} records, ${indexRows} index rows, ${contents} contents, ${queueEntries} queue entries: ${problems.length === 0 ? 'all agree' : `${problems.length} problems`}\n`,
  )
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed
}

async function reportOf(dataDir: string): Promise<VerifyReport> {
  const daemon = await runningDaemon(dataDir)
  if (daemon) {
    const response = await callDaemon(daemon, 'GET', verifyPath)
    try {
      return JSON.parse(await response.text()) as VerifyReport
    } catch (error) {
      throw new StartRefused('The daemon broke off; what it found is not known.', exitCodes.failed, { cause: error })
    }
  }
  await using kv = await LevelKv.open(storeFolder(dataDir))
  const database = new Database(kv)
  return await verify(database, { ...integrityChecks(database), missingGroups: kv.missingGroups })
}
