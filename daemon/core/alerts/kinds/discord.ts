/** Discord webhooks: one embed, without mentions. */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type UrlTarget, type WriteAlert } from './kind.ts'

const maxTitle = 256
const maxDescription = 2000
const colors = { error: 0xb3261e, warning: 0xa86400, over: 0x0f5f5c, test: 0x51606b } as const

export const discord: WriteAlert<UrlTarget> = ({ event, language }, { url }) => {
  const { title, forms, url: link, level } = alertText(event, language)
  return jsonRequest(url, {
    embeds: [
      {
        title: blockOf([[escaped(title)]], '', maxTitle),
        description: blockOf(
          forms().map((form) => form.map(escaped)),
          '',
          maxDescription,
        ),
        ...{ url: link, color: colors[level] },
      },
    ],
    allowed_mentions: { parse: [] },
  })
}

/** Discord shows the character after a backslash as it is, so that a name cannot become a link or a heading. */
const escaped = (text: string): string => text.replaceAll(/[\\*_~`|>#[\]()<:@-]/g, (character) => `\\${character}`)
