/**
 * Recognizes bounces, delays and automatic replies without structured fields by their wording, in the languages and forms of many programs.
 */
import { addressList } from '../../mime/address-list.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { firstValue, type HeaderField } from '../../mime/header-fields.ts'
import { isMachine } from '../facts/mail-address.ts'

const anyOf = (...sources: string[]): RegExp => new RegExp(sources.join('|'), 'iu')

/** Subjects that report a failed delivery. */
const failureSubject = anyOf(
  'undeliver|non-?deliver|not delivered|deliver(?:y|able)|returned? (?:mail|message|to sender)|failure notice|mail(?:er)? (?:system )?(?:error|fail)',
  'error sending your (?:mail|message)|could(?: not|n.t) (?:be )?(?:send|sent|deliver)|warning: (?:message|could)|bounced? (?:mail|message)|^bounce|rejected',
  'mail failed|failed mail|message (?:has )?(?:failed|delayed)|user unknown|unzustellbar|nicht zugestellt|non remis|échec de (?:la )?remise|non recapit|no se puede entregar|onbestelbaar|niet afgeleverd|kan ikke leveres|ikke leveret|kan inte levereras|nie można dostarczyć|non distribu|no entregado|mancata consegna',
  'エラー|送信できません|配信できません|配送できません|配信失敗|送信失敗|戻り|不達|届けでき|未配信|не доставлен|недоставлен|无法投递|退信|投递失败|系统退信',
)

/** Wording of failure notices. */
const failurePhrases = anyOf(
  '(?:could|can|was|were|has|have|is|are|did)(?: ?not|n.t) (?:yet )?(?:been |be )?(?:successfully )?(?:deliver|sent|send|reach)|undeliver|(?:non|not) deliver(?:able|ed)',
  '(?:unable|able|failed|trying|attempting|error|trouble|problems?)[^.\n]{0,40} (?:to )?deliver|deliver\\w{0,10} (?:\\w{1,20} ){0,6}(?:failed|failure|errors?|problems?|delayed|aborted|impossible)',
  'failed permanently|permanent(?:ly)? (?:fatal )?(?:errors?|failure|rejected)|fatal errors|return(?:ed|ing)? (?:\\w{1,20} )?to (?:the )?sender|did not reach|returned permanent',
  'following address(?:\\(es\\)|es)? (?:failed|had)|transcript of (?:the )?session|no longer (?:accept|valid)|(?:user|recipient|address|mailbox|account)[^.\n]{0,30}(?:unknown|not found|disabled|is full|rejected|over quota|does not exist)',
  '(?:unknown|no such|invalid|bad)(?: final delivery)? (?:user|recipient|address|mailbox|account|userid|local)|mailbox (?:is )?(?:full|unavailable)|(?:over|exceeds?) quota|quota exceeded|failure reasons|failed addresses|incorrectly constructed',
  'not a (?:known|valid|registered|active) (?:user|recipient|address|mailbox|account)|not an active (?:user|address|account)|been returned because',
  'has been (?:rejected|failed|delayed|bounced)|delayed for more than|message (?:was )?rejected|automatically rejected|could not be (?:completed|processed|accepted)|refused (?:to accept )?your',
  'zugestellt|zustell|n.a pas pu|n.ont pas pu|non remis|no se (?:ha podido|pudo)|no ha podido|impossibile (?:consegnare|recapitare)|não (?:pôde|foi)|не (?:может быть|было) доставлен|не доставлено',
  '送信できません|配信できません|配送できません|お届けでき|届きません|送達でき|見つかりません|ありません|失敗しました|失敗いたし|エラーのため|满|无法|不存在|退回',
)

/** Wording of notices about a delay; the message may still be delivered. */
const delayPhrases = anyOf(
  '(?:has|have) (?:been delayed|not yet been delivered)|not yet (?:been )?deliver|warning message only|do(?:es)? not need to (?:re-?send|retry)|will be retried|delivery attempts will continue',
  'temporary failure report|is delayed for more than|message (?:is|was) delayed|still trying|(?:will|to) (?:keep|continue) (?:to )?try|will try again|no action is required|could not be delivered (?:yet|for) .{0,30}(?:hours|minutes)',
  'warning: could not send message for past|delivery (?:is )?delayed|verzögert|livraison (?:a été )?retardée|配信遅延|遅延',
)
const delaySubject = /\bdelay(?:ed)?\b|^warning: (?:message|could not send)|warning--could not send|still being retried|遅延/iu

const replySubject = anyOf(
  '^(?:\\[[^\\]]{1,40}\\] ?)?(?:auto(?:matic|mated)?[ -]?(?:re(?:ply|sponse|sponder)|respons|antwort)|automatische antwort|réponse automatique|respuesta automática|risposta automatica|自動応答|自動返信)',
  'out of (?:the )?office|vacation|abwesenheit|away from (?:my|the) (?:office|mail)|on holiday|autorespons|auto[- ]reply|absence du bureau|не в офисе|不在',
  'automatyczna odpowied|automatisch antwoord|autosvar|automatisk(?:t)? svar|automaattinen vastaus|resposta autom[aá]tica|automatická odpově|automatikus v[aá]lasz|otomatik yan[iı]t|автоматический ответ|автоответ|自动回复|自動回覆',
)

/** Facts in a mail's header about its sender. */
export interface HeaderSigns {
  /** Sent by a mailer daemon, or without a sender. */
  readonly isFromMachine: boolean
  /** Sent with the null reverse-path (RFC 5321 §4.5.5). */
  readonly hasNullPath: boolean
  readonly reportsFailure: boolean
  readonly reportsDelay: boolean
  /** The mail is a reply to another mail (RFC 5322 §3.6.4). */
  readonly isAnswer: boolean
  /** An automatic reply, such as a vacation notice or a ticket system's confirmation (RFC 3834 §5). */
  readonly isAutoReply: boolean
}

export function headerSigns(fields: readonly HeaderField[]): HeaderSigns {
  const value = (name: string): string => firstValue(fields, name) ?? ''
  const from = addressList(value('from'))
  const subject = decodeEncodedWords(value('subject')).slice(0, 500)
  const name = `${from[0]?.name ?? ''} ${value('from')}`.slice(0, 500)
  const returnPath = firstValue(fields, 'return-path')
  return {
    isFromMachine:
      /^\s*(?:<>|mailer-daemon)?\s*$/i.test(value('from')) ||
      firstValue(fields, 'x-ms-exchange-message-is-ndr') !== undefined ||
      from.some(({ address }) => isMachine(address)) ||
      /mail(?:er)?[ ._-]?daemon|mail deliver(?:y|er) (?:sub)?system|system administrator|post ?master|<>/i.test(name),
    hasNullPath: returnPath !== undefined && /^<?\s*(?:mailer-daemon(?:@[^>]*)?)?\s*>?$/i.test(returnPath.trim()),
    reportsFailure: failureSubject.test(subject),
    reportsDelay: delaySubject.test(subject),
    isAnswer: value('in-reply-to') !== '' || value('references') !== '',
    isAutoReply:
      /^\s*auto-(?:replied|notified)/i.test(value('auto-submitted')) ||
      (/^\s*auto-generated/i.test(value('auto-submitted')) && value('in-reply-to') !== '') ||
      /vacation/i.test(value('x-apple-action')) ||
      /auto[_-]?reply/i.test(`${value('precedence')} ${value('x-precedence')}`) ||
      ['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-auto-reply', 'x-autogenerated'].some((field) => value(field) !== '') ||
      replySubject.test(subject),
  }
}

/** Length of the searched prefix. Notices describe the failure at their beginning. */
const maxSaid = 32 * 1024
export const reportsFailure = (text: string): boolean => failurePhrases.test(text.slice(0, maxSaid))
export const reportsDelay = (text: string): boolean => delayPhrases.test(text.slice(0, maxSaid))
