/** Slack, and servers with the same webhooks, such as Mattermost, which show `text` only. */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type UrlTarget, type WriteAlert } from './kind.ts'

const maxHeader = 150
const maxSection = 2800

export const slack: WriteAlert<UrlTarget> = ({ event, language }, { url }) => {
  const { title, paragraphs, url: link, button } = alertText(event, language)
  const plain = (text: string): object => ({ type: 'plain_text', text, emoji: false })
  return jsonRequest(url, {
    text: escaped(blockOf([title, ...paragraphs], link, maxSection)),
    mrkdwn: false,
    unfurl_links: false,
    blocks: [
      { type: 'header', text: plain(blockOf([title], '', maxHeader)) },
      { type: 'section', text: plain(blockOf(paragraphs, '', maxSection)) },
      { type: 'actions', elements: [{ type: 'button', text: plain(button), url: link }] },
    ],
  })
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Slack reads `<!channel>` and `<http://…|text>` in `text` unless these characters are escaped. */
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => entities[character] ?? character)
