/** Presets by the MX hosts of their customers' domains. */
import data from './preset-exchanges.json' with { type: 'json' }

const presets: ReadonlyMap<string, string> = new Map(
  data.exchanges.flatMap(({ preset, suffixes }) => suffixes.map((suffix) => [suffix, preset] as const)),
)

/** Returns the id of the preset whose customers' mail this host receives. The longest suffix decides. */
export function presetOfExchange(exchange: string): string | undefined {
  const labels = exchange.toLowerCase().replace(/\.$/, '').split('.')
  for (let i = 0; i < labels.length; i++) {
    const id = presets.get(labels.slice(i).join('.'))
    if (id !== undefined) return id
  }
  return undefined
}
