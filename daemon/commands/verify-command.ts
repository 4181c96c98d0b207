/** `postern verify`: compares stored records, indexes, contents and counters, in the running daemon or in a stopped store. */
import type { Config } from '#config/settings/load.ts'
import { integrityChecks } from '#core/integrity.ts'
import { releaseForm } from '#core/migrations.ts'
import { Database } from '#store/database.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { DamagedFolder } from '#store/kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { formOf, requireReadable } from '#store/upgrade/store-form.ts'
import { unread, verify, withProblem, type VerifyReport } from '#store/verify/verify.ts'
import { verifyPath } from '../../admin-api/operator/operator-backup.ts'
import { requireRestored } from '../process/data-folder.ts'
import { exitCodes, type ExitCode } from '../process/lifecycle.ts'
import { openStore, requireStore } from '../open-store.ts'
import { keyProblem } from '../process/master-key.ts'
import { runningDaemon } from '../process/operator-file.ts'
import { StartRefused } from '../process/start-refused.ts'
import { brokenReport, callDaemon } from './daemon-client.ts'

/** The end of a problem about a missing file of the store. */
const missingFile = /\bis missing\.$/

/** Prints all problems. Returns 1 if there are any. `acceptsLosses` accepts lost records before the check. */
export async function verifyStore(config: Config, acceptsLosses: boolean, out: { write(text: string): unknown }): Promise<ExitCode> {
  await requireStore(config)
  await requireRestored(config.dataDir)
  if (acceptsLosses) await acceptLosses(config, out)
  const report = await reportOf(config, out)
  for (const problem of report.problems) out.write(`${problem}\n`)
  const { records, indexRows, contents, queueEntries, problems } = report
  if (report.isUnread) {
    const next = problems.some((problem) => missingFile.test(problem))
      ? 'The daemon does not start without the missing file. Put it back, or restore the last good backup.'
      : 'The next start of the daemon repairs damaged files if possible. Then run postern verify again. If rows are missing, restore the last good backup.'
    out.write(`${counted(problems)}. The store is damaged, so its records were not compared. ${next}\n`)
    return exitCodes.failed
  }
  out.write(
    `${records} records, ${indexRows} index rows, ${contents} contents, ${queueEntries} queue entries: ${problems.length === 0 ? 'all agree' : counted(problems)}\n`,
  )
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed
}

/** Accepts the losses, so that lists and backups work again. Throws `StartRefused` while a daemon runs. */
async function acceptLosses(config: Config, out: { write(text: string): unknown }): Promise<void> {
  const daemon = await runningDaemon(config.dataDir)
  if (daemon) throw new StartRefused('A daemon runs on this store. Stop it, accept the losses, then start it again.', exitCodes.failed)
  await using kv = await openStore(config)
  if (!(kv instanceof LevelKv))
    throw new StartRefused('--accept-losses does not apply to a database, which has its own checksums.', exitCodes.usage)
  const { damage, missingGroups } = kv
  await kv.acceptLosses()
  for (const { sentence } of damage) out.write(`Accepted: ${sentence}\n`)
  if (missingGroups.length > 0) out.write(`Accepted: ${missingGroups.length} group commits are lost.\n`)
  if (damage.length + missingGroups.length === 0) out.write('Nothing is lost.\n')
}

const counted = ({ length }: readonly string[]): string => (length === 1 ? '1 problem' : `${length} problems`)

async function reportOf(config: Config, out: { write(text: string): unknown }): Promise<VerifyReport> {
  const daemon = await runningDaemon(config.dataDir)
  if (daemon) {
    const response = await callDaemon(daemon, 'GET', verifyPath)
    try {
      return JSON.parse(await response.text()) as VerifyReport
    } catch (error) {
      throw brokenReport(error)
    }
  }
  const opened = await openStore(config).catch((error: unknown) => {
    if (error instanceof DamagedFolder) return unread(error.problems)
    throw error
  })
  if ('problems' in opened) return opened
  await using kv = opened
  await requireReadable(kv, releaseForm)
  return withProblem(await compared(kv, out), await keyProblem(config, kv))
}

async function compared(kv: StoreKv, out: { write(text: string): unknown }): Promise<VerifyReport> {
  const database = new Database(kv)
  const checks = { ...integrityChecks(database), missingGroups: kv.missingGroups, damage: kv.damage }
  const { format } = await formOf(kv)
  if (format === releaseForm.format) return await verify(database, checks)
  // later upgrade steps may create the counters
  out.write(
    `The store has format ${format}. The next start upgrades it to ${releaseForm.format}. Counters can be compared only after that.\n`,
  )
  return await verify(database, { ...checks, counted: [] })
}
