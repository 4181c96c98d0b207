/** Health of a resource, from its open findings and from the results that are stored with it. Pure. */
import type { Finding } from '../findings/finding.ts'
import type { FindingKind } from '../findings/kinds.ts'

/**
 * `failing`: an error about the resource is open. `warning`: a warning is open. `unknown`: nothing was seen yet, or the latest results
 * failed and no finding is open. The switch of the resource has no effect on it.
 */
export const healthStates = ['ok', 'warning', 'failing', 'unknown'] as const
export type HealthState = (typeof healthStates)[number]

/** Stored results of a resource. */
export interface Results {
  /** Whether the latest result is a success. */
  readonly isGood: boolean
  readonly lastSuccessAt: number | null
  /** Null for resources whose attempts are not counted. */
  readonly failuresInARow?: number | null
  /** Time of the first failure since the latest success. */
  readonly failingSince?: number | null
  /** Status or code of the latest reply; null for resources that no request is sent to. */
  readonly lastReply?: string | null
}

export interface Health extends Required<Omit<Results, 'isGood' | 'failingSince'>> {
  readonly state: HealthState
  /** Start of the problem; null if there is none. */
  readonly since: number | null
  /** Kinds of the open findings about the resource, errors first. */
  readonly findings: readonly FindingKind[]
}

/** `open`: the open findings about the resource. */
export function healthOf(open: readonly Finding[], results: Results): Health {
  const { isGood, lastSuccessAt, failuresInARow = null, failingSince = null, lastReply = null } = results
  const has = (severity: Finding['severity']): boolean => open.some((finding) => finding.severity === severity)
  const state = has('error') ? 'failing' : has('warning') ? 'warning' : isGood && open.length === 0 ? 'ok' : 'unknown'
  const begins = [...open.map(({ openedAt }) => openedAt), ...(failingSince === null ? [] : [failingSince])]
  return {
    ...{ state, since: begins.length === 0 ? null : Math.min(...begins), lastSuccessAt, failuresInARow, lastReply },
    findings: [...new Set(open.map(({ kind }) => kind))],
  }
}
