/** Checks the store: damage in the data folder, or the database and its object storage. */
import type { Config } from '#config/settings/load.ts'
import { databaseFindings, objectFindings, type DatabaseFacts } from '#core/doctor/database-findings.ts'
import type { Check } from '#core/doctor/check.ts'
import type { Finding } from '#core/doctor/finding.ts'
import { damageFindings } from '#core/doctor/process-findings.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { KnownDamage } from '#store/level/known-damage.ts'
import { StoreAway, StoreUnavailable } from '#store/kv.ts'
import { objectsOf } from '../open-store.ts'

const everyMs = 5 * 60_000

type Place = Pick<Config, 'store'>

export const storeCheck = (config: Place, kv: Pick<StoreKv, 'damage'>): Check =>
  config.store.address === null
    ? { name: 'store', everyMs: 0, find: async () => damageFindings(kv.damage) }
    : { name: 'store', everyMs, find: async () => (await examineDatabase(config)).findings }

export interface ExaminedStore {
  /** State of the store in a sentence. */
  readonly summary: string
  readonly findings: readonly Finding[]
}

/** Examines the folder of a stopped daemon. */
export async function examineFolder(folder: string): Promise<ExaminedStore> {
  return { summary: 'The files of the store match their checksums.', findings: damageFindings(await KnownDamage.look(folder)) }
}

export async function examineDatabase({ store }: Place): Promise<ExaminedStore> {
  const [facts, problem] = await Promise.all([databaseFacts(String(store.address)), objectProblem(store)])
  const findings = [...databaseFindings(facts), ...objectFindings(problem)]
  const server = 'problem' in facts ? '' : `PostgreSQL ${facts.version} at ${facts.shown} accepts writes.`
  const objects = store.objects === null || problem !== undefined ? '' : ' The object storage works.'
  return { summary: server + objects, findings }
}

async function databaseFacts(address: string): Promise<DatabaseFacts | { readonly problem: string }> {
  const { databaseCondition } = await import('#store/postgresql/condition.ts') // loaded only for stores in a database
  try {
    return await databaseCondition(address)
  } catch (error) {
    return { problem: error instanceof StoreUnavailable ? error.message : `The database does not answer: ${(error as Error).message}.` }
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
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
  }
}
