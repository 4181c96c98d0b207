/** Parses the options of `postern queue` into a filter. Reads no files and runs nothing. */

export const queueVerbs = ['list', 'holds', 'hold', 'release', 'expedite', 'drop'] as const

export interface QueueArguments {
  /** The daemon to call and the API key; see `DaemonChoice`. */
  readonly url: string | undefined
  readonly key: string | undefined
  readonly verb: (typeof queueVerbs)[number]
  /** Fields of the filter by their API names. */
  readonly filter: Readonly<Record<string, string | number | readonly string[]>>
  readonly reason: string | undefined
  /** Maximum number of listed rows. */
  readonly limit: number
  /** For `list`: shows only held messages. */
  readonly isHeld: boolean
  /** For `hold`: sets a standing hold, which also holds new messages. */
  readonly isStanding: boolean
  /** For `release`: id of the standing hold to release. */
  readonly hold: string | undefined
  /** Runs the action; without it, messages are only counted. */
  readonly isConfirmed: boolean
  /** Organization to act in as the operator. */
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

/** Invalid options, or options that select no messages. */
class FilterUnclear extends Error {}

/** Throws `FilterUnclear`. */
export function queueArguments(verb: QueueArguments['verb'], values: Values, nowMs: number): Omit<QueueArguments, 'url' | 'key'> {
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
    throw new FilterUnclear(`queue ${verb} needs a filter option, or --all.`)
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

function filterOf(values: Values, nowMs: number): QueueArguments['filter'] {
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
