/** Checks the store: damage in the data folder, or the database and its object storage. */
import type { Config } from '#config/settings/load.ts'
import { databaseFindings, objectFindings, type DatabaseFacts } from '#core/doctor/database-findings.ts'
import { ofService, type Check } from '#core/doctor/check.ts'
import type { Clock } from '#core/clock.ts'
import { backupFindings, damageFindings } from '#core/doctor/process-findings.ts'
import type { Observed } from '#core/findings/finding.ts'
import type { FindingKind } from '#core/findings/kinds.ts'
import type { Database } from '#store/database.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { KnownDamage } from '#store/level/known-damage.ts'
import { StoreAway, StoreUnavailable } from '#store/kv.ts'
import { sharedBackupAt } from '../backup/last-backup.ts'
import { objectsOf } from '../open-store.ts'

const everyMs = 5 * 60_000

type Place = Pick<Config, 'store'>

export interface StoreCheckOptions {
  readonly config: Place
  readonly clock: Pick<Clock, 'now'>
  readonly kv: Pick<StoreKv, 'damage'>
  readonly database: Pick<Database, 'kv'>
}

export const storeCheck = ({ config, clock, kv, database }: StoreCheckOptions): Check =>
  config.store.address === null
    ? { name: 'store', everyMs: 0, place: 'every', look: async () => ofService(damageFindings(kv.damage)) }
    : {
        ...{ name: 'store', everyMs, place: 'one', needsNoStore: true },
        async look({ isStoreAway = false }) {
          const { found, isArchived } = await examineDatabase(config)
          // while the database is away, an open finding about backups stays
          if (isStoreAway || isArchived === undefined) return { ...ofService(found), coversFinding: (_, { kind }) => !isAboutBackups(kind) }
          const backups = isArchived ? [] : backupFindings(await sharedBackupAt(database), clock.now(), 'database')
          return ofService([...found, ...backups])
        },
      }

/** Returns whether the database archives its log, for metrics. Connects to the database every five minutes at most. */
export function archiving({ store }: Place, clock: Pick<Clock, 'now'>): () => Promise<boolean> {
  let asked: { readonly at: number; readonly isArchived: Promise<boolean> } | undefined
  const ask = async (address: string): Promise<boolean> => {
    const facts = await databaseFacts(address)
    return !('problem' in facts) && facts.isArchived
  }
  return async () => {
    if (store.address === null) return false
    const now = clock.now()
    if (!asked || Math.abs(now - asked.at) >= everyMs) asked = { at: now, isArchived: ask(store.address) }
    return asked.isArchived
  }
}

const isAboutBackups = (kind: FindingKind): boolean => kind === 'backup.none' || kind === 'backup.old'

export interface ExaminedStore {
  /** State of the store in a sentence. */
  readonly summary: string
  readonly found: readonly Observed[]
  /** Whether the database archives its log, which restores it to any time; undefined for a folder, and if the database does not answer. */
  readonly isArchived?: boolean | undefined
}

/** Examines the folder of a stopped daemon. */
export async function examineFolder(folder: string): Promise<ExaminedStore> {
  return { summary: 'The files of the store match their checksums.', found: damageFindings(await KnownDamage.look(folder)) }
}

export async function examineDatabase({ store }: Place): Promise<ExaminedStore> {
  const [facts, problem] = await Promise.all([databaseFacts(String(store.address)), objectProblem(store)])
  const found = [...databaseFindings(facts), ...objectFindings(problem)]
  const server = 'problem' in facts ? '' : `PostgreSQL ${facts.version} at ${facts.shown} accepts writes.`
  const objects = store.objects === null || problem !== undefined ? '' : ' The object storage works.'
  return { summary: server + objects, found, isArchived: 'problem' in facts ? undefined : facts.isArchived }
}

async function databaseFacts(address: string): Promise<DatabaseFacts | { readonly problem: string }> {
  const { databaseCondition } = await import('#store/postgresql/condition.ts') // loaded only for stores in a database
  try {
    return await databaseCondition(address)
  } catch (error) {
    return { problem: error instanceof StoreUnavailable ? withoutReply(error) : `The database does not answer${codeIn(error)}.` }
  }
}

async function objectProblem(store: Config['store']): Promise<string | undefined> {
  try {
    const options = await objectsOf(store)
    if (!options) return undefined
    const { probeObjects } = await import('#store/postgresql/objects/probe.ts')
    await probeObjects(options.objects)
    return undefined
  } catch (error) {
    if (!(error instanceof StoreAway || error instanceof StoreUnavailable)) throw error
    return withoutReply(error)
  }
}

/** Returns the message as a sentence, with the code of a refusal in place of the server's reply. */
function withoutReply({ message, cause }: Error): string {
  const { who, code } = /^(?<who>.* refuses): (?<code>\d{3} \w*)?/s.exec(message)?.groups ?? {}
  if (who !== undefined) return `${who}${code === undefined ? codeIn(cause) : ` (${code.trim()})`}.`
  return /[.!?]$/.test(message) ? message : `${message}.`
}

const codeIn = (error: unknown): string => (error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '')
