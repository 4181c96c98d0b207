/** What limits and axes are called; one that is new here keeps its name on the wire. */
import { words } from './usage-words.ts'

export function named(name: string): string {
  const entry = (words() as Readonly<Record<string, unknown>>)[name]
  return typeof entry === 'string' ? entry : name.replaceAll('_', ' ')
}
