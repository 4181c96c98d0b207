/** Findings about the database of the store and the object storage. Pure. */
import { finding, type Finding } from './finding.ts'
import { lagFindings } from './process-findings.ts'

/** The oldest release that Postern is tested with. */
const oldestMajor = 15
/** Share of the server's connection limit. */
const nearlyAll = 0.8
const lateSeconds = 30

interface Standby {
  readonly name: string
  readonly lagSeconds: number
}

/** State of the database, or the reason why it is unavailable. */
export interface DatabaseFacts {
  readonly shown: string
  readonly version: string
  /** Settings that let a crash lose acknowledged data. */
  readonly unsafe: readonly string[]
  readonly connections: { readonly used: number; readonly limit: number }
  readonly standbys: readonly Standby[]
  /** Size of an unfinished copy of the store that no process uses. */
  readonly forgottenCopy: string | null
  /** Lag of this machine's clock behind the clock of the server. */
  readonly clockLagMs: number
}

/** `problem` is a sentence. */
export function databaseFindings(facts: DatabaseFacts | { readonly problem: string }): Finding[] {
  if ('problem' in facts)
    return [
      finding(
        'database.away',
        '',
        facts.problem,
        'Start the database or correct POSTERN_STORE. Mail waits until then; a daemon exits after 30 seconds without the database.',
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
    found.push(finding('database.unsafe', '', summary, `Set ${unsafe.join(', ')} to on, and check that no pooler changes it.`))
  }
  if (Number.parseInt(version, 10) < oldestMajor) {
    const summary = `The database at ${shown} is PostgreSQL ${version}, older than ${oldestMajor}, the oldest that Postern is tested on.`
    found.push(finding('database.old', '', summary, 'Upgrade it to a supported release.'))
  }
  if (used >= limit * nearlyAll) {
    const summary = `${used} of the ${limit} connections that the database at ${shown} takes are in use.`
    const fix =
      'Raise max_connections, or check which other clients use the server. Each daemon keeps about 6; a start or a backup needs one more.'
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
        'Check its disk and its network. After a failover, mail acknowledged in that time is lost, unless commits wait for the standby.',
      ),
    )
}

function copyFindings({ shown, forgottenCopy }: DatabaseFacts): Finding[] {
  if (forgottenCopy === null) return []
  const summary = `The table postern_rows_restored of the database at ${shown} remains from an unfinished copy of a store, with ${forgottenCopy}.`
  const fix = 'Run DROP TABLE postern_rows_restored there, or run postern migrate again to finish the copy.'
  return [finding('database.forgotten_copy', '', summary, fix)]
}

/** `problem` is a sentence with the reason why objects cannot be written and read back. */
export function objectFindings(problem: string | undefined): Finding[] {
  if (problem === undefined) return []
  const fix =
    'Repair the object storage, or correct POSTERN_STORE_OBJECTS and its credentials; large messages are refused with 503 and 451 until then.'
  return [finding('objects.away', '', problem, fix)]
}
