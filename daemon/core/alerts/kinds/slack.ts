/**
 * Slack shows the blocks, and `text` in notices on phones. Servers with the same webhooks, such as Mattermost, show `text` only, and read
 * Markdown and mentions in it.
 */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type UrlTarget, type WriteAlert } from './kind.ts'

const maxHeader = 150
const maxSection = 2800

export const slack: WriteAlert<UrlTarget> = ({ event, language }, { url }) => {
  const { title, forms, url: link, button } = alertText(event, language)
  const write = isOfSlack(url) ? escaped : (text: string): string => withoutMarkdown(escaped(text))
  const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false })
  return jsonRequest(url, {
    text: blockOf(
      forms().map((form) => [title, ...form].map(write)),
      isOfSlack(url) ? escaped(link) : link,
      maxSection,
    ),
    mrkdwn: false,
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(blockOf([[title]], '', maxHeader)) },
      { type: 'section', text: plain(blockOf(forms(), '', maxSection)) },
      { type: 'actions', elements: [{ type: 'button', text: plain(button), url: link }] },
    ],
  })
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Slack reads `<!channel>` and `<http://…|text>` in `text` unless these characters are escaped. */
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => entities[character] ?? character)

const isOfSlack = (url: string): boolean => /(?:^|\.)slack(?:-gov)?\.com$/.test(new URL(url).hostname)

/** Has no width, and separates words. */
const joiner = '\u2060'
/** Markdown shows a character after a backslash as it is. A joiner keeps mentions, bare URLs and emoji codes from being found. */
const withoutMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_~[\]#|]/g, (character) => `\\${character}`).replaceAll(/[@:](?=\S)/g, (character) => character + joiner)
