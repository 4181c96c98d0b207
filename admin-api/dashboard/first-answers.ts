/**
 * The first reads of the start screen. The shell page contains their answers, so that the first paint needs no request. Runs the actions of
 * REST, for the caller of the page.
 */
import type { Principal } from '#core/access/principal/principal.ts'
import type { Action } from '../actions/action.ts'
import { invoke } from '../actions/invoke.ts'
import { doctorActions, type DoctorSource } from '../operator/operator-doctor.ts'
import { findingActions } from '../rest/insights/findings.ts'
import { insightActions } from '../rest/insights/insights.ts'
import { projectActions } from '../rest/organization/projects.ts'
import { flagCheck, type RestCore } from '../rest/rest-core.ts'
import { destinationActions } from '../rest/routing/destinations.ts'
import { everKept, lastWeek } from './kept-figures.ts'

export type FirstAnswersCore = RestCore & { readonly doctor: DoctorSource }

/** Wire answers by path and query, with the parameters in alphabetical order and without `limit`. */
export interface FirstAnswers {
  /** Id of the organization that the answers are about. */
  readonly organization: string
  readonly answers: Readonly<Record<string, unknown>>
}

/** Largest sum of the answers as JSON, in characters. The screen requests further answers itself. */
const maxLength = 65_536
/** The overview shows three findings, without consequences of others, so it needs more. */
const findingsRead = 20
/** The screen needs whole lists, so the page contains no longer ones. */
const rowsRead = 20

interface FirstRead {
  readonly action: Action<FirstAnswersCore>
  readonly query: Readonly<Record<string, string | number>>
  /** Whether the answer depends on the project of the screen. */
  readonly isOfProject: boolean
  /** Whether only the whole list is of use. */
  readonly isWhole?: boolean
}

const actions = new Map(
  [...findingActions, ...insightActions, ...destinationActions, ...projectActions, ...doctorActions].map(
    (action: Action<FirstAnswersCore>) => [action.id, action] as const,
  ),
)

function read(id: string, query: FirstRead['query'], isOfProject: boolean, isWhole = false): FirstRead {
  const action = actions.get(id)
  if (!action) throw new Error(`no action ${id}`)
  return { action, query, isOfProject, isWhole }
}

/** The most important answers are first. */
const ofMembers: readonly FirstRead[] = [
  read('listFindings', { state: 'open', limit: findingsRead }, true),
  read('listDestinations', { limit: rowsRead }, true, true),
  read('getSendInsight', { step_seconds: 1800 }, true),
  read('getDeliveryInsight', { step_seconds: 1800 }, true),
  read('listProjects', { limit: rowsRead }, false, true),
  read('getMyProject', {}, false),
]
const ofOperators: readonly FirstRead[] = [read('operatorGetDoctor', {}, false)]

interface Caller {
  readonly principal: Principal
  /** The project of the screen; undefined for the whole organization. */
  readonly project: string | undefined
  readonly isOperator: boolean
}

/** Reads the answers for one organization. Skips answers that the role may not read, and failed reads. */
export async function firstAnswers(core: FirstAnswersCore, { principal, project, isOperator }: Caller): Promise<FirstAnswers> {
  const wanted = isOperator ? [...ofMembers, ...ofOperators] : ofMembers
  const answersTo = (reads: readonly FirstRead[]): Promise<readonly (Found | undefined)[]> =>
    Promise.all(reads.map((one) => answerOf(core, principal, one, one.isOfProject ? project : undefined)))
  const found = await answersTo(wanted)
  const answers: Record<string, unknown> = {}
  let room = maxLength
  for (const one of [...found, ...(await answersTo(furtherReads(found, core.clock.now())))]) {
    if (!one || one.length > room) continue
    room -= one.length
    answers[one.address] = one.answer
  }
  return { organization: principal.organizationId, answers }
}

interface Found {
  readonly address: string
  readonly answer: unknown
  readonly length: number
}

/** Returns further reads: all figures if no mail was sent today, and figures of the week if a destination is paused. */
function furtherReads([findings, , , delivery]: readonly (Found | undefined)[], now: number): readonly FirstRead[] {
  const isResting = (findings?.answer as Page | undefined)?.data.some(({ kind }) => kind === 'destination.resting')
  const isWithoutMail = (delivery?.answer as Figures | undefined)?.totals.taken === 0
  return [
    ...(isWithoutMail ? [read('getDeliveryInsight', everKept(now), true)] : []),
    ...(isResting ? [read('getDestinationInsight', lastWeek(now), true)] : []),
  ]
}

interface Page {
  readonly data: readonly { readonly kind?: string }[]
  readonly next_cursor: string | null
}
interface Figures {
  readonly totals: { readonly taken: number }
}

async function answerOf(
  core: FirstAnswersCore,
  principal: Principal,
  { action, query, isWhole }: FirstRead,
  project: string | undefined,
): Promise<Found | undefined> {
  const client = { address: '', origin: undefined, requestId: '' }
  const { signal } = new AbortController()
  try {
    const input = { ...query, ...(project !== undefined && { project }) }
    const answer = await invoke(action, { core, principal, client, signal }, input, flagCheck(core.policies))
    if (isWhole && (answer as Page).next_cursor !== null) return undefined
    return { address: addressOf(action.http?.path ?? '', input), answer, length: JSON.stringify(answer).length }
  } catch {
    return undefined // the screen requests the answer itself, and reports the refusal or the failure
  }
}

function addressOf(path: string, query: Readonly<Record<string, string | number>>): string {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))
  search.delete('limit')
  search.sort()
  return search.size === 0 ? path : `${path}?${search.toString()}`
}
