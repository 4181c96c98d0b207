/** Finds the causes of findings, so that one cause needs one message, and one for its end. Pure. */
import type { Finding } from '../findings/finding.ts'
import { factsOf, type FindingKind } from '../findings/kinds.ts'

const minute = 60_000
const hour = 60 * minute

/** Kinds of findings about one destination, the most precise cause first. A channel gets one of them. */
const aboutDestination: readonly FindingKind[] = [
  'destination.login_refused',
  'destination.probe_failed',
  'destination.resting',
  'destination.failing',
]
const [mostPrecise] = aboutDestination
/** The figures of an hour, which begin at a quarter of an hour, do not show a repaired destination after this time. */
const settlesMs = 75 * minute
/** Shares of an hour end after this time, with the interval of their two looks. Other consequences end after an hour. */
const fadesMs: Readonly<Partial<Record<FindingKind, number>>> = { 'mail.deferred': settlesMs + 10 * minute }

/** Kinds that take the place of another one of the same subject, which therefore ends without a repair. */
const replacements: Readonly<Partial<Record<FindingKind, FindingKind>>> = {
  'quota.nearly_used': 'quota.used',
  // of both, the larger share is observed
  'mail.bounced': 'mail.failed',
  'mail.failed': 'mail.bounced',
}

/** Whether the end of the finding can be the end of another one that it replaced. */
export const isReplacement = ({ kind }: Finding): boolean => Object.values(replacements).includes(kind)

/** Whether other findings of the project follow from this one. */
export const isTrouble = ({ kind, severity }: Finding): boolean => kind.startsWith('destination.') && severity === 'error'

/** A finding with its organization, if the channel gets findings of several organizations. */
export interface FindingToTell extends Finding {
  readonly organizationId?: string
}

/** Whether the finding concerns mail of the project. A destination that the organization shares can carry mail of every project. */
export const concerns = ({ kind, projectId }: Finding, ofProject: string): boolean =>
  projectId === ofProject || (projectId === '' && aboutDestination.includes(kind))

export class Causes {
  /** Errors of destinations in the scope of the channel, by project. */
  readonly #troubles: Grouped
  /** The same, by destination. */
  readonly #siblings: Grouped
  /** Open findings of projects without any accepted mail, by organization and by project. */
  readonly #stoppedIn: Grouped
  readonly #stopped: Grouped
  /** Findings in the scope of the channel that can replace others, by kind and subject. */
  readonly #replacing: ReadonlyMap<string, FindingToTell>
  readonly #isNotified: (finding: FindingToTell) => boolean

  constructor(
    findings: readonly FindingToTell[],
    isInScope: (finding: FindingToTell) => boolean,
    isNotified: (finding: FindingToTell) => boolean,
  ) {
    const replacing = findings.filter((one) => isReplacement(one) && isInScope(one))
    this.#replacing = new Map(replacing.toReversed().map((one) => [subjectName(one, one.kind), one]))
    const troubles = findings.filter((one) => isTrouble(one) && isInScope(one))
    this.#troubles = Map.groupBy(troubles, (one) => projectName(one))
    this.#siblings = Map.groupBy(troubles, destinationOf)
    const stopped = findings.filter(({ kind, state }) => kind === 'mail.all_failing' && state === 'open')
    this.#stopped = Map.groupBy(stopped, (one) => projectName(one))
    this.#stoppedIn = Map.groupBy(stopped, ({ organizationId = '' }) => organizationId)
    this.#isNotified = isNotified
  }

  /** Returns the time from which its causes allow a message about the finding; Infinity while a cause is open. */
  freedMs(finding: FindingToTell): number {
    const { kind, projectId } = finding
    if (isConsequence(finding)) {
      const places = new Set([projectName(finding), projectName(finding, '')])
      const causes = [...places].flatMap((place) => this.#troubles.get(place) ?? []).filter((one) => concerns(one, projectId))
      return latest(causes, finding, fadesMs[kind] ?? hour)
    }
    if (!isTrouble(finding) || kind === mostPrecise || this.#isNotified(finding)) return 0
    const causes = this.#siblings.get(destinationOf(finding))?.filter((one) => one.id !== finding.id && this.#explains(one, kind))
    return latest(causes, finding, settlesMs)
  }

  /** Returns the end of the finding, or the later end of the one that replaced it; Infinity while that one is open. */
  overMs(finding: FindingToTell): number {
    const kind = replacements[finding.kind]
    const next = kind && this.#replacing.get(subjectName(finding, kind))
    return Math.max(...[finding, ...(next ? [next] : [])].map(({ overAt }) => overAt ?? Infinity))
  }

  /** Whether a short fault can still explain the finding: some mail of the project is accepted. */
  isPartial(finding: FindingToTell): boolean {
    return finding.kind === 'destination.failing' && !this.#stopped.has(projectName(finding))
  }

  /** Returns the open findings that this cause replaces in messages. The cause is sent as early as the first of them would be. */
  replacedBy(cause: FindingToTell): readonly FindingToTell[] {
    if (!isTrouble(cause)) return []
    const siblings = this.#siblings.get(destinationOf(cause)) ?? []
    const lessPrecise = siblings.filter(({ kind, state }) => state === 'open' && isMorePrecise(cause.kind, kind))
    const stopped = cause.projectId === '' ? this.#stoppedIn.get(cause.organizationId ?? '') : this.#stopped.get(projectName(cause))
    return [...lessPrecise, ...(stopped ?? [])].filter((one) => !this.#isNotified(one))
  }

  #explains(cause: Finding, kind: FindingKind): boolean {
    return this.#isNotified(cause) || isMorePrecise(cause.kind, kind)
  }
}

type Grouped = ReadonlyMap<string, readonly FindingToTell[]>

const projectName = ({ organizationId = '', projectId }: FindingToTell, project = projectId): string => `${organizationId} ${project}`
const subjectName = ({ organizationId = '', subject }: FindingToTell, kind: FindingKind): string => `${organizationId} ${kind} ${subject}`

const isMorePrecise = (kind: FindingKind, than: FindingKind): boolean => aboutDestination.indexOf(kind) < aboutDestination.indexOf(than)

/** A webhook of a form fails by itself. */
const isConsequence = ({ kind, params }: Finding): boolean => factsOf(kind).isConsequence === true && params['by'] !== 'webhook'

/** The subject is the id of the destination, followed by a project if several use the destination. */
const destinationOf = ({ subject }: Finding): string => subject.split('/')[0] ?? ''

/** A cause that ended before the finding began explains nothing. */
const latest = (causes: readonly FindingToTell[] = [], { openedAt }: Finding, lastsMs: number): number =>
  Math.max(0, ...causes.map(({ overAt }) => (overAt === null ? Infinity : openedAt <= overAt ? overAt + lastsMs : 0)))
