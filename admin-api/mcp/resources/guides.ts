/** Guides: chapters of the documentation by topic. Agents read the files of the documentation itself. */
import { join } from 'node:path'
import { ownFileTime, readOwnFile } from '#config/own-files.ts'

const folder = join(import.meta.dirname, '../../docs')

/** The chapter of each topic. Spec "MCP resources". */
const chapters = {
  send: 'sending.md',
  sandbox: 'captured-mail.md',
  routing: 'routing.md',
  domains: 'domains.md',
  webhooks: 'webhooks.md',
  forms: 'forms.md',
  'publishable-keys': 'publishable-keys.md',
  smtp: 'smtp.md',
  bounces: 'bounces.md',
  claims: 'oauth.md',
  vendors: 'moving.md',
} as const

export type Topic = keyof typeof chapters
export const topics = Object.keys(chapters) as Topic[]
export const isTopic = (text: string): text is Topic => Object.hasOwn(chapters, text)

export const guideUri = (topic: Topic): string => `docs://guide/${topic}`

export interface Guide {
  readonly text: string
  readonly lastModified: string
}

export async function guide(topic: Topic): Promise<Guide> {
  const path = join(folder, chapters[topic])
  const [text, changed] = await Promise.all([readOwnFile(path), ownFileTime(path)])
  return { text: text.toString('utf8'), lastModified: changed.toISOString() }
}
