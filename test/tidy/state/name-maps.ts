/** Refuses object literals read by computed names: they also have the names of `Object.prototype`, such as `constructor`. */
import type { Source } from '../source.ts'

/** Tests choose their names. */
export const nameMaps = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path }) => !path.startsWith('test/'))
    .flatMap(({ path, nameReads }) =>
      nameReads.map(({ text, line }) => `${path}:${line} ${text} is read by a computed name: make it a Map, or Object.create(null)`),
    )
