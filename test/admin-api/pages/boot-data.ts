/** The data that a page of the dashboard contains for its script. */
interface BootData {
  readonly first?: FirstAnswers
}

/** Results of the first reads of the start screen, by address. */
export interface FirstAnswers {
  readonly organization: string
  readonly answers: Readonly<Record<string, { readonly data?: readonly Readonly<Record<string, unknown>>[] }>>
}

const entities: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', '#39': "'" }

export function bootDataOf(html: string): BootData {
  const [, encoded = '{}'] = /data-boot="([^"]*)"/.exec(html) ?? []
  return JSON.parse(encoded.replaceAll(/&(#?\w+);/g, (_, name: string) => entities[name] ?? '')) as BootData
}
