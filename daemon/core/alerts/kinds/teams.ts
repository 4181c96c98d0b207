/** Microsoft Teams: an Adaptive Card for the trigger "When a Teams webhook request is received" of Workflows. */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type UrlTarget, type WriteAlert } from './kind.ts'

const maxSummary = 150
const maxText = 10_000

export const teams: WriteAlert<UrlTarget> = ({ event, language }, { url }) => {
  const { title, paragraphs, forms, url: link, button, level } = alertText(event, language)
  const fallbackText = blockOf(
    forms().map((form) => [title, ...form]),
    link,
    maxText,
  )
  return jsonRequest(url, {
    type: 'message',
    summary: blockOf([[title]], '', maxSummary),
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          ...{ type: 'AdaptiveCard', version: '1.4', fallbackText },
          body: [
            run(title, { weight: 'bolder', size: 'medium', ...(level === 'error' && { color: 'attention' }) }),
            ...paragraphs.map((paragraph) => run(paragraph)),
          ],
          actions: [{ type: 'Action.OpenUrl', title: button, url: link }],
        },
      },
    ],
  })
}

/** A rich text block shows its text as it is; a text block would read Markdown. */
const run = (text: string, style: object = {}): object => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text, ...style }] })
