/** Both servers at the same work, in turns: A B A B. */
import type { Contender } from './contenders.ts'
import type { BenchOptions } from './options.ts'
import { figure, medianSample, sampleRow, type Sample } from './results.ts'

/** One kind of work, and what measures one server at it. */
export interface Work {
  readonly name: string
  readonly start: { readonly postfix: () => Promise<Contender>; readonly postern: () => Promise<Contender> }
  readonly measure: (contender: Contender) => Promise<Sample>
}

export interface Comparison {
  readonly name: string
  readonly postfix: Sample
  readonly postern: Sample
  /** Postern's rate divided by Postfix's. */
  readonly ratio: number
  readonly samples: { readonly postfix: readonly Sample[]; readonly postern: readonly Sample[] }
}

/** Measures each server as often as asked for and takes the medians. */
export async function compare(work: Work, options: BenchOptions): Promise<Comparison> {
  const samples = { postfix: [] as Sample[], postern: [] as Sample[] }
  for (let round = 0; round < options.rounds; round++) {
    for (const name of ['postfix', 'postern'] as const) {
      await using contender = await work.start[name]()
      const sample = await work.measure(contender)
      samples[name].push(sample)
      if (options.verbose) console.log(sampleRow(`  ${work.name}: ${name}`, sample))
    }
  }
  const [postfix, postern] = [medianSample(samples.postfix), medianSample(samples.postern)]
  return { name: work.name, postfix, postern, ratio: postern.perSecond / postfix.perSecond, samples }
}

/** The comparison as lines under `sampleHead`. */
export const comparisonLines = ({ name, postfix, postern, ratio }: Comparison): string[] => [
  sampleRow(`${name}: Postfix`, postfix),
  sampleRow(`${name}: Postern`, postern),
  `  ${' '.repeat(34)}${`${figure(ratio)} x`.padStart(11)}`,
]
