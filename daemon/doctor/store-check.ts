/** The check of the store: damage in the data folder, or the database and where its large values stand. */
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
  /** What is there, in a sentence. */
  readonly summary: string
  readonly findings: readonly Finding[]
}

/** Of a daemon that does not run. */
export async function examineFolder(folder: string): Promise<ExaminedStore> {
  return { summary: 'The files of the store have their checksums.', findings: damageFindings(await KnownDamage.look(folder)) }
}

export async function examineDatabase({ store }: Place): Promise<ExaminedStore> {
  const [facts, problem] = await Promise.all([databaseFacts(String(store.address)), objectProblem(store)])
  const findings = [...databaseFindings(facts), ...objectFindings(problem)]
  const server = 'problem' in facts ? '' : `PostgreSQL ${facts.version} at ${facts.shown} takes writes.`
  const objects = store.objects === null || problem !== undefined ? '' : ' Objects are written and read back.'
  return { summary: server + objects, findings }
}

async function databaseFacts(address: string): Promise<DatabaseFacts | { readonly problem: string }> {
  const { databaseCondition } = await import('#store/postgresql/condition.ts') // only those who have one pay for it
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
