/** Checks the store: damage in the data folder, or the database and its object storage. */
import type { Config } from '#config/settings/load.ts'
import { databaseFindings, objectFindings, type DatabaseFacts } from '#core/doctor/database-findings.ts'
import { ofService, type Check } from '#core/doctor/check.ts'
import { damageFindings } from '#core/doctor/process-findings.ts'
import type { Observed } from '#core/findings/finding.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { KnownDamage } from '#store/level/known-damage.ts'
import { StoreAway, StoreUnavailable } from '#store/kv.ts'
import { objectsOf } from '../open-store.ts'

const everyMs = 5 * 60_000

type Place = Pick<Config, 'store'>

export const storeCheck = (config: Place, kv: Pick<StoreKv, 'damage'>): Check =>
  config.store.address === null
    ? { name: 'store', everyMs: 0, place: 'every', look: async () => ofService(damageFindings(kv.damage)) }
    : { name: 'store', everyMs, place: 'one', needsNoStore: true, look: async () => ofService((await examineDatabase(config)).found) }

export interface ExaminedStore {
  /** State of the store in a sentence. */
  readonly summary: string
  readonly found: readonly Observed[]
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
  return { summary: server + objects, found }
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
