/** Names of limits and metrics. Unknown ones keep their API name. */
import { words } from './usage-words.ts'

export function named(name: string): string {
  const entry = (words() as Readonly<Record<string, unknown>>)[name]
  return typeof entry === 'string' ? entry : name.replaceAll('_', ' ')
}
