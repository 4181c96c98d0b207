/** The words of `postern queue`: in come options, out goes the filter. Reads nothing and does nothing. */

export const queueVerbs = ['list', 'holds', 'hold', 'release', 'expedite', 'drop'] as const

export interface QueueWords {
  /** Which daemon, and with which key; see `DaemonChoice`. */
  readonly url: string | undefined
  readonly key: string | undefined
  readonly verb: (typeof queueVerbs)[number]
  /** Fields of the filter by their names on the wire. */
  readonly filter: Readonly<Record<string, string | number | readonly string[]>>
  readonly reason: string | undefined
  /** Most rows of a list. */
  readonly limit: number
  /** Only what is held; of a list. */
  readonly isHeld: boolean
  /** Of a hold: it stands, for what is still to come too. */
  readonly isStanding: boolean
  /** Of a release: the standing hold that is lifted by it. */
  readonly hold: string | undefined
  /** Without it an act is counted only. */
  readonly isConfirmed: boolean
  /** As the operator, in this organization. */
  readonly organization: string | undefined
  readonly asJson: boolean
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

export const queueOptions = {
  ...{ destination: text, project: text, 'to-domain': text, from: text, 'older-than': text, attempts: text },
  ...{
    trace: { type: 'string', multiple: true } as const,
    all: flag,
    held: flag,
    standing: flag,
    hold: text,
    limit: text,
    reason: text,
    yes: flag,
    organization: text,
  },
} as const

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** Words that do not say which messages are meant. */
class FilterUnclear extends Error {}

/** Throws `FilterUnclear`. */
export function queueWords(verb: QueueWords['verb'], values: Values, nowMs: number): Omit<QueueWords, 'url' | 'key'> {
  const filter = filterOf(values, nowMs)
  const isRead = verb === 'list' || verb === 'holds'
  const [isStanding, hold] = [values['standing'] === true, textOf(values['hold'])]
  const foreign = [
    ...(isRead ? ['reason', 'yes', 'all', 'trace'] : ['held']),
    ...(verb === 'list' ? [] : ['limit']),
    ...(verb === 'hold' ? [] : ['standing']),
    ...(verb === 'release' ? [] : ['hold']),
    ...(isStanding ? ['older-than', 'attempts', 'trace'] : []),
    ...(verb === 'holds' || hold !== undefined ? selecting : []),
  ].find((name) => values[name] !== undefined)
  if (foreign !== undefined) throw new FilterUnclear(`queue ${verb}${isStanding ? ' --standing' : ''} takes no --${foreign}.`)
  if (!isRead && hold === undefined && Object.keys(filter).length === 0 && values['all'] !== true)
    throw new FilterUnclear(`queue ${verb} needs an option that says which messages, or --all.`)
  return {
    ...{
      verb,
      filter,
      reason: textOf(values['reason']),
      limit: limitOf(textOf(values['limit'])),
      isHeld: values['held'] === true,
      isStanding,
      hold,
      isConfirmed: values['yes'] === true,
    },
    ...{ organization: textOf(values['organization']), asJson: values['json'] === true },
  }
}

const selecting = ['destination', 'project', 'to-domain', 'from', 'older-than', 'attempts', 'trace', 'all', 'held']

function filterOf(values: Values, nowMs: number): QueueWords['filter'] {
  const attempts = textOf(values['attempts'])
  if (attempts !== undefined && !/^\d{1,4}$/.test(attempts)) throw new FilterUnclear('--attempts needs a whole number such as 3.')
  const age = textOf(values['older-than'])
  const traces = [values['trace'] ?? []].flat().map(String)
  const given = {
    destination_id: textOf(values['destination']),
    project_id: textOf(values['project']),
    to_domain: textOf(values['to-domain']),
    from: textOf(values['from']),
    accepted_before: age === undefined ? undefined : new Date(nowMs - millisecondsOf(age)).toISOString(),
    min_attempts: attempts === undefined ? undefined : Number(attempts),
    trace_ids: traces.length === 0 ? undefined : traces,
  }
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

const usualLimit = 50
const maxLimit = 100_000

function limitOf(given: string | undefined): number {
  if (given === undefined) return usualLimit
  if (!/^[1-9]\d{0,5}$/.test(given) || Number(given) > maxLimit)
    throw new FilterUnclear(`--limit needs a whole number from 1 to ${maxLimit}.`)
  return Number(given)
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function millisecondsOf(age: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(age) ?? []
  if (count === undefined || unit === undefined) throw new FilterUnclear('--older-than needs an age such as 30m, 2h or 3d.')
  return Number(count) * (units[unit] ?? 0)
}

const textOf = (value: Values[string]): string | undefined => (typeof value === 'string' ? value : undefined)
