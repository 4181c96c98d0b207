/** Measures both servers with the same work in turns: A B A B. */
import type { Contender, Postern } from './contenders.ts'
import type { LoadResult, SmtpDialog } from './load/load-job.ts'
import { measure, type Measured } from './measure.ts'
import type { BenchOptions } from './options.ts'
import { profiled, type Shares } from './profile.ts'
import { costRow, figure, judgeAll, labelWidth, medianSample, sampleRow, type Sample, type Verdict } from './results.ts'

/** One kind of traffic and its share of the measured messages. */
export interface Traffic {
  readonly name: string
  readonly label: string
  readonly size: number
  readonly dialog: SmtpDialog
  /** Fraction of the requested messages that is measured. */
  readonly share: number
}

/** Sends `count` messages to a server and waits until the server has processed them. */
export type Send = (contender: Contender, traffic: Traffic, count: number, mostSeconds: number) => Promise<LoadResult>

/** Kinds of traffic for both servers. */
export interface Work {
  readonly start: {
    readonly postfix: () => Promise<Contender>
    readonly postern: (env?: Readonly<Record<string, string>>) => Promise<Postern>
  }
  readonly send: Send
  /** The first is the usual traffic, which warms up a server. */
  readonly traffic: readonly [Traffic, ...Traffic[]]
}

export interface Comparison {
  readonly name: string
  readonly label: string
  readonly postfix: Sample
  readonly postern: Sample
  /** Postern's rate divided by Postfix's. */
  readonly ratio: number
  readonly samples: { readonly postfix: readonly Sample[]; readonly postern: readonly Sample[] }
}

/** The usual client, which waits for the reply to each command and keeps its connection. */
export const usualDialog: SmtpDialog = { pipelining: false, perConnection: false, starttls: false }

/** Fraction of the server's warm-up messages that warm up each further kind of traffic. */
const warmUpShare = 0.1
const mostWarmUpSeconds = 12

/**
 * Measures one run of a server: the usual traffic cold, after few messages, then each kind when the server is warm. Slow servers count as
 * warm after a time limit.
 */
export async function measureLife(contender: Contender, work: Work, options: BenchOptions): Promise<ReadonlyMap<string, Measured>> {
  const { cold, warm, messages, seconds, traffic: wanted } = options
  const [usual] = work.traffic
  const measured = new Map<string, Measured>()
  const count = (name: string, traffic: Traffic, share: number): Promise<unknown> => {
    const load = () => work.send(contender, traffic, Math.ceil(messages * share), seconds)
    return measure(contender, load).then((found) => measured.set(name, found))
  }
  await work.send(contender, usual, cold, mostWarmUpSeconds)
  if (isWanted(coldName, wanted)) await count(coldName, usual, usual.share * coldShare)
  await work.send(contender, usual, warm - cold, mostWarmUpSeconds)
  for (const traffic of work.traffic) {
    if (!isWanted(traffic.name, wanted)) continue
    if (traffic !== usual) await work.send(contender, traffic, Math.ceil(warm * warmUpShare), mostWarmUpSeconds)
    await count(traffic.name, traffic, traffic.share)
  }
  return measured
}

export const coldName = 'cold'
const coldShare = 0.3

const isWanted = (name: string, wanted: BenchOptions['traffic']): boolean => wanted === undefined || wanted.includes(name)

/** Measures each server in each round and returns the medians of each kind of traffic. */
export async function compare(work: Work, options: BenchOptions): Promise<ReadonlyMap<string, Comparison>> {
  const lives = { postfix: [] as ReadonlyMap<string, Measured>[], postern: [] as ReadonlyMap<string, Measured>[] }
  for (let round = 0; round < options.rounds; round++) {
    for (const name of ['postfix', 'postern'] as const) {
      await using contender = await work.start[name]()
      const life = await measureLife(contender, work, options)
      lives[name].push(life)
      if (options.verbose) for (const [traffic, { sample }] of life) console.log(sampleRow(`  ${traffic}: ${name}`, sample))
    }
  }
  const samplesOf = (name: string, list: readonly ReadonlyMap<string, Measured>[]): Sample[] =>
    list.flatMap((life) => life.get(name)?.sample ?? [])
  const labels = new Map([[coldName, `${work.traffic[0].label}, cold`], ...work.traffic.map(({ name, label }) => [name, label] as const)])
  const comparisons = new Map<string, Comparison>()
  for (const [name, label] of labels) {
    const samples = { postfix: samplesOf(name, lives.postfix), postern: samplesOf(name, lives.postern) }
    if (samples.postern.length === 0) continue
    const [postfix, postern] = [medianSample(samples.postfix), medianSample(samples.postern)]
    comparisons.set(name, { name, label, postfix, postern, ratio: postern.perSecond / postfix.perSecond, samples })
  }
  return comparisons
}

/** Shares of Postern's main thread for each kind of traffic; empty without a profile. */
export const profileWork = (work: Work, options: BenchOptions): Promise<ReadonlyMap<string, Shares>> =>
  options.profile ? profiled(work.start.postern, (postern) => measureLife(postern, work, options)) : Promise.resolve(new Map())

/** The comparison as lines under `sampleHead`. */
export const comparisonLines = ({ label, postfix, postern, ratio }: Comparison): string[] => [
  sampleRow(`${label}: Postfix`, postfix),
  sampleRow(`${label}: Postern`, postern),
  `  ${' '.repeat(labelWidth)}${`${figure(ratio)} x`.padStart(11)}`,
]

/** The peak of all rows. */
export const memoryAtLoad = (section: string, all: readonly Comparison[]): Verdict[] =>
  judgeAll(all, [
    [
      `memory at load, ${section}: <= 350 MiB`,
      (list) => Math.max(...list.map(({ postern }) => postern.memoryMebibytes ?? NaN)),
      '<=',
      350,
      'MiB',
    ],
  ])

/** Processor load above which a generator limits the measurement itself. */
const busyGenerator = 0.9

/** Warnings for rows whose rate the generator may have limited. */
export const generatorLines = (all: readonly Comparison[]): string[] =>
  all
    .filter(({ postfix, postern }) => [postfix, postern].some(({ generatorCpu }) => (generatorCpu ?? 0) > busyGenerator))
    .map(({ label }) => `The load generator was the bottleneck: ${label}.`)

/** Postern's cost of a message, as a line below `costHead`. */
export const costLine = ({ label, postern }: Comparison): string => costRow(label, postern)
