/** Telegram: a message of a bot, without a parse mode, so that the text has no markup. */
import { alertText, blockOf } from './alert-text.ts'
import { jsonRequest, type WriteAlert } from './kind.ts'

export interface TelegramTarget {
  /** URL of the Bot API server, ending in a slash. */
  readonly url: string
  readonly botToken: string
  readonly chatId: string
}

const maxText = 4000

export const telegramUrl = ({ url, botToken }: Omit<TelegramTarget, 'chatId'>): string => `${url}bot${botToken}/sendMessage`

export const telegram: WriteAlert<TelegramTarget> = ({ event, language }, target) => {
  const { title, forms, url } = alertText(event, language)
  return jsonRequest(telegramUrl(target), {
    chat_id: target.chatId,
    text: blockOf(
      forms().map((form) => [title, ...form]),
      url,
      maxText,
    ),
    link_preview_options: { is_disabled: true },
  })
}

/** Reads how long Telegram wants no request, in milliseconds. */
export function telegramWaitMs(answer: string): number | undefined {
  const seconds = /"retry_after"\s*:\s*(\d{1,6})\b/.exec(answer)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
