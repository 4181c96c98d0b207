/** What the database of the store and its place for objects say of themselves. Pure. */
import { finding, type Finding } from './finding.ts'
import { lagFindings } from './process-findings.ts'

/** The oldest release that tests run on. */
const oldestMajor = 15
/** Of those that the server takes. */
const nearlyAll = 0.8
const lateSeconds = 30

interface Standby {
  readonly name: string
  readonly lagSeconds: number
}

/** Of the database: its condition, or why there is none. */
export interface DatabaseFacts {
  readonly shown: string
  readonly version: string
  /** Settings under which a crash loses what was acknowledged. */
  readonly unsafe: readonly string[]
  readonly connections: { readonly used: number; readonly limit: number }
  readonly standbys: readonly Standby[]
  /** The size of a copy of a store that lies beside the one in use, and that nothing works at. */
  readonly forgottenCopy: string | null
  /** By how much the clock of this machine is behind that of the server. */
  readonly clockLagMs: number
}

/** A problem is a sentence. */
export function databaseFindings(facts: DatabaseFacts | { readonly problem: string }): Finding[] {
  if ('problem' in facts)
    return [
      finding(
        'database.away',
        '',
        facts.problem,
        'Start the database or correct POSTERN_STORE. What is accepted waits for it, and a daemon ends when it is away for 30 seconds.',
      ),
    ]
  return [
    ...serverFindings(facts),
    ...standbyFindings(facts),
    ...copyFindings(facts),
    ...lagFindings({ server: 'the database', ms: facts.clockLagMs }),
  ]
}

function serverFindings({ shown, version, unsafe, connections: { used, limit } }: DatabaseFacts): Finding[] {
  const found: Finding[] = []
  if (unsafe.length > 0) {
    const summary = `The database at ${shown} runs without ${unsafe.join(', ')}: a crash of its machine loses mail that was acknowledged.`
    found.push(finding('database.unsafe', '', summary, `Set ${unsafe.join(', ')} to on, and let no pooler change it.`))
  }
  if (Number.parseInt(version, 10) < oldestMajor) {
    const summary = `The database at ${shown} is PostgreSQL ${version}, older than ${oldestMajor}, the oldest that Postern is tested on.`
    found.push(finding('database.old', '', summary, 'Upgrade it to a release that gets fixes.'))
  }
  if (used >= limit * nearlyAll) {
    const summary = `${used} of the ${limit} connections that the database at ${shown} takes are in use.`
    const fix =
      'Raise max_connections, or look who else uses the server; each daemon keeps about 6, and a start or a backup takes one more.'
    found.push(finding('database.connections', '', summary, fix))
  }
  return found
}

function standbyFindings({ standbys }: DatabaseFacts): Finding[] {
  return standbys
    .filter(({ lagSeconds }) => lagSeconds >= lateSeconds)
    .map(({ name, lagSeconds }) =>
      finding(
        'database.standby_late',
        name,
        `The standby ${name} is ${Math.round(lagSeconds)} seconds behind the database.`,
        'Look at its disk and its network: after a failover it would not have what was acknowledged in that time, unless commits wait for it.',
      ),
    )
}

function copyFindings({ shown, forgottenCopy }: DatabaseFacts): Finding[] {
  if (forgottenCopy === null) return []
  const summary = `The table postern_rows_restored of the database at ${shown} is left of a copy that was not finished: a whole store, of ${forgottenCopy}.`
  const fix = 'Run DROP TABLE postern_rows_restored there, or postern migrate again if it is to finish the copy.'
  return [finding('database.forgotten_copy', '', summary, fix)]
}

/** `problem`: why objects cannot be written and read back, in a sentence. */
export function objectFindings(problem: string | undefined): Finding[] {
  if (problem === undefined) return []
  const fix = 'Mend it, or correct POSTERN_STORE_OBJECTS and its credentials; large messages are refused with 503 and 451 until then.'
  return [finding('objects.away', '', problem, fix)]
}
