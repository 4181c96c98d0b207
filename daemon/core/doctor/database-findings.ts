/** Findings about the database of the store and the object storage. Pure. */
import { observed, type Observed } from '../findings/finding.ts'
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
  /** The database archives its log, and the latest attempt succeeded. */
  readonly isArchived: boolean
  /** Lag of this machine's clock behind the clock of the server. */
  readonly clockLagMs: number
}

/** `problem` is a sentence. */
export function databaseFindings(facts: DatabaseFacts | { readonly problem: string }): Observed[] {
  if ('problem' in facts) return [observed('database.away', '', { problem: facts.problem })]
  return [
    ...serverFindings(facts),
    ...standbyFindings(facts),
    ...copyFindings(facts),
    ...lagFindings({ server: 'database', ms: facts.clockLagMs }),
  ]
}

function serverFindings({ shown, version, unsafe, connections: { used, limit } }: DatabaseFacts): Observed[] {
  const isOld = Number.parseInt(version, 10) < oldestMajor
  return [
    ...(unsafe.length > 0 ? [observed('database.unsafe', '', { database: shown, settings: unsafe.join(', ') })] : []),
    ...(isOld ? [observed('database.old', '', { database: shown, version, oldest: oldestMajor })] : []),
    ...(used >= limit * nearlyAll ? [observed('database.connections', '', { database: shown, used, limit })] : []),
  ]
}

const standbyFindings = ({ standbys }: DatabaseFacts): Observed[] =>
  standbys
    .filter(({ lagSeconds }) => lagSeconds >= lateSeconds)
    .map(({ name, lagSeconds }) => observed('database.standby_late', name, { name, seconds: Math.round(lagSeconds) }))

const copyFindings = ({ shown, forgottenCopy }: DatabaseFacts): Observed[] =>
  forgottenCopy === null ? [] : [observed('database.forgotten_copy', '', { database: shown, size: forgottenCopy })]

/** `problem` is a sentence with the reason why objects cannot be written and read back. */
export const objectFindings = (problem: string | undefined): Observed[] =>
  problem === undefined ? [] : [observed('objects.away', '', { problem })]
