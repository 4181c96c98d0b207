/** Names of limits and metrics. Unknown ones keep their API name. */
import { texts } from './usage-texts.ts'

export function named(name: string): string {
  const entry = (texts() as Readonly<Record<string, unknown>>)[name]
  return typeof entry === 'string' ? entry : name.replaceAll('_', ' ')
}
