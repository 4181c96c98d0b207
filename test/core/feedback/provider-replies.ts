/** Replies of real servers, and their classification. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import type { BounceClass } from '#core/feedback/event.ts'

export interface Reply {
  readonly provider: string | null
  readonly server: string | null
  readonly text: string
  readonly category: RefusalCategory
  readonly bounce: BounceClass
}

type Row = readonly [text: string, category: RefusalCategory, bounce: BounceClass]

const repliesOf = (provider: string | null, server: string | null, rows: readonly Row[]): Reply[] =>
  rows.map(([text, category, bounce]) => ({ provider, server, text, category, bounce }))

const gmail: readonly Row[] = [
  [
    '550-5.1.1 The email account that you tried to reach does not exist. Please try 550-5.1.1 double-checking https://support.google.com/mail/?p=NoSuchUser 4 - gsmtp',
    'recipient_unknown',
    'hard',
  ],
  ['550 5.2.1 The email account that you tried to reach is inactive. 4 - gsmtp', 'mailbox_disabled', 'hard'],
  [
    "552 5.2.2 The recipient's inbox is out of storage space and inactive. https://support.google.com/mail/?p=OverQuotaPerm 4 - gsmtp",
    'mailbox_full',
    'soft',
  ],
  [
    '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. - gsmtp',
    'rate',
    'soft',
  ],
  ['421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your SPF domain. - gsmtp', 'reputation', 'block'],
  ['550-5.7.1 Our system has detected that this message is 550-5.7.1 likely unsolicited mail. - gsmtp', 'reputation', 'block'],
  ['550-5.7.26 Your email has been blocked because the sender is unauthenticated. - gsmtp', 'authentication', 'block'],
  ['550-5.7.25 The IP address sending this message does not have a PTR record setup. - gsmtp', 'authentication', 'block'],
  ['421-4.7.23 The IP address sending this message does not have a PTR record. - gsmtp', 'authentication', 'block'],
  ['550 5.7.24 The SPF record of the sending domain has one or more suspicious entries. - gsmtp', 'authentication', 'block'],
  ['550-5.7.27 Your email has been blocked because SPF did not pass. - gsmtp', 'authentication', 'block'],
  ['421-4.7.29 This email was not sent over a TLS connection. - gsmtp', 'tls', 'block'],
  ['550-5.7.30 Your email has been blocked because DKIM does not pass. - gsmtp', 'authentication', 'block'],
  ['550-5.7.40 The From domain has no DMARC record. - gsmtp', 'authentication', 'block'],
  ['421-4.7.32 The From header is aligned with neither SPF nor DKIM. - gsmtp', 'authentication', 'block'],
  ['550-5.7.1 This message has multiple addresses in From and is not RFC 5322 compliant. - gsmtp', 'content', 'block'],
]

const microsoft: readonly Row[] = [
  ['550 5.7.515 Access denied, sending domain example.ch does not meet the required authentication level.', 'authentication', 'block'],
  ["421 RP-001 (ABC) Unfortunately, some messages from 192.0.2.1 weren't sent.", 'reputation', 'block'],
  [
    "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Part of their network is on our block list (S3150).",
    'reputation',
    'block',
  ],
  ['550 SC-002 (ABC) Mail rejected for guessing of names.', 'reputation', 'block'],
  ['550 OU-002 (ABC) Mail rejected for policy reasons.', 'reputation', 'block'],
  ['451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited.', 'reputation', 'soft'],
  ['421 mail from this host is temporarily rate limited', 'reputation', 'soft'],
  ['550 5.7.606 Access denied, banned sending IP [192.0.2.1].', 'reputation', 'block'],
  ['550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.', 'reputation', 'block'],
  ['550 5.7.509 Access denied, sending domain does not pass DMARC verification.', 'authentication', 'block'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup', 'recipient_unknown', 'hard'],
  ['550 5.1.0 RecipNotFound; not found', 'recipient_unknown', 'hard'],
  ['550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [X.prod.protection.outlook.com]', 'recipient_unknown', 'hard'],
  ['550 5.5.0 Requested action not taken: mailbox unavailable.', 'recipient_unknown', 'hard'],
  ['550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required', 'policy', 'block'],
  ['554 5.2.121 The recipient has exceeded their limit.', 'rate', 'soft'],
  ['550 5.7.30 Basic authentication is not supported for Client Submission.', 'auth_client', 'block'],
  ['535 5.7.139 Authentication unsuccessful, basic authentication is disabled.', 'auth_client', 'block'],
]

const yahoo: readonly Row[] = [
  ['554 30 Sorry, your message to ada@yahoo.com cannot be delivered. This mailbox is disabled (554.30).', 'recipient_unknown', 'hard'],
  ["554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]", 'recipient_unknown', 'hard'],
  ['421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints', 'reputation', 'soft'],
  ['554 5.7.9 Message not accepted for policy reasons. 192.0.2.30 [PH01]', 'content', 'block'],
  ['553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.30, because the address is listed by Spamhaus', 'reputation', 'block'],
  ['550 5.7.1 Unauthenticated email is not accepted due to the policy of the domain', 'authentication', 'block'],
  ['554 5.7.9 DMARC policy of the domain says reject', 'authentication', 'block'],
  ['451 4.1.8 Message not accepted due to unresolvable RFC 5321 from domain', 'sender', 'block'],
]

const gmx: readonly Row[] = [
  [
    '554-gmx.net (mxgmx017) Nemesis ESMTP Service not available 554-No SMTP service 554-IP address is block listed. 554 For explanation visit https://postmaster.gmx.net/en/case?c=r1601&i=ip',
    'reputation',
    'block',
  ],
  [
    '554-No SMTP service 554-Bad DNS PTR resource record. 554 For explanation visit https://postmaster.gmx.net/en/case?c=rdns',
    'authentication',
    'block',
  ],
  ['450-Requested mail action not taken: mailbox unavailable 450 Reject due to policy restrictions.', 'reputation', 'soft'],
  ['421 rate limit reached', 'rate', 'soft'],
  [
    '550-Requested action not taken: mailbox unavailable 550 Reject due to SPF policy. https://postmaster.web.de/en/case?c=hi',
    'authentication',
    'block',
  ],
  [
    '550-Requested action not taken: mailbox unavailable 550-Sender address has null MX 550 https://postmaster.gmx.net/en/case?c=r0502',
    'sender',
    'block',
  ],
  ['550 Requested action not taken: mailbox unavailable', 'recipient_unknown', 'hard'],
  ['552 Requested mail action aborted: exceeded storage allocation', 'mailbox_full', 'soft'],
]

export const providerReplies: readonly Reply[] = [
  ...repliesOf('gmail', 'gmail-smtp-in.l.google.com', gmail),
  ...repliesOf('microsoft', 'example-ch.mail.protection.outlook.com', microsoft),
  ...repliesOf('yahoo', 'mta7.am0.yahoodns.net', yahoo),
  ...repliesOf('gmx_webde', 'mx00.emig.gmx.net', gmx),
  ...repliesOf('bluewin', 'mxbw.bluewin.ch', [
    ['451 4.7.1 greeting pause, come again', 'reputation', 'soft'],
    ['554 Your address is blocked, see https://postmaster.bluewin.ch/removal?ip=192.0.2.1', 'reputation', 'block'],
  ]),
  ...repliesOf('t-online', 'mx00.t-online.de', [
    [
      '554 IP=192.0.2.1 - A problem occurred. Ask your postmaster for help or contact tosa@rx.t-online.de to clarify. (BL)',
      'reputation',
      'block',
    ],
  ]),
  ...repliesOf('icloud', 'mx01.mail.icloud.com', [
    ['550 5.7.0 Blocked - see https://support.apple.com/en-us/HT204137 [CS01]', 'reputation', 'block'],
    ['550 5.7.1 Mail rejected due to local policy', 'reputation', 'block'],
  ]),
  // Recognized by their text if only a relay is named.
  ...repliesOf('gmail', 'relay.example.net', [['550 5.7.26 unauthenticated - gsmtp', 'authentication', 'block']]),
  ...repliesOf('microsoft', 'relay.example.net', [['550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found', 'recipient_unknown', 'hard']]),
]

export const genericReplies: readonly Reply[] = repliesOf(null, 'mx.example.ch', [
  ['525 5.7.13 User account disabled', 'auth_client', 'block'],
  ['535 5.7.8 Error: authentication failed', 'auth_client', 'block'],
  ['535 authentication failed', 'auth_client', 'block'],
  ['554 5.7.1 Service unavailable; client [192.0.2.1] blocked using zen.spamhaus.org', 'reputation', 'block'],
  ['550 5.1.1 <ada@example.ch>: blocked, the sender is on our blacklist', 'reputation', 'block'],
  ['550 5.1.1 <shop@example.net>: Sender address rejected: User unknown in virtual mailbox table', 'sender', 'block'],
  ['550 5.4.4 Name service error for name=example.ch: Malformed or unexpected name server reply', 'network', 'soft'],
  ['550 5.1.1 too many messages from this sender', 'rate', 'soft'],
  ['450 4.5.3 Daily limit reached', 'rate', 'soft'],
  ['553 sorry, Domain of sender address shop@example.net does not exist', 'sender', 'block'],
  ['553 5.1.0 shop@example.net does not exist E2110', 'sender', 'block'],
  ['550 5.0.0 host unknown', 'domain', 'hard'],
  ['450 4.7.1 <ada@example.ch>: Recipient address rejected: Greylisted', 'greylisting', 'soft'],
  ['450 4.7.1 please retry', 'greylisting', 'soft'],
  ['550 no such user here', 'recipient_unknown', 'hard'],
  ['550 5.7.1 Benutzer: Empfaenger ist unbekannt', 'recipient_unknown', 'hard'],
  ['553 5.3.0 <ada@example.ch>... Addressee unknown', 'recipient_unknown', 'hard'],
  ['554 5.7.1 <ada@example.ch>: Recipient address rejected: Nonexistent user', 'recipient_unknown', 'hard'],
  ['550-<ada@example.ch> is not a known user on this system', 'recipient_unknown', 'hard'],
  ['550 ** No mail box available for this user **', 'recipient_unknown', 'hard'],
  ['550 Recipient Rejected: No account by that name here', 'recipient_unknown', 'hard'],
  ['550 #5.1.0 Address rejected.', 'recipient_unknown', 'hard'],
  ['550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 x', 'recipient_unknown', 'hard'],
  ['554 5.7.1 <ada@example.ch>: Recipient address rejected: Access denied', 'policy', 'block'],
  ['550 No MX found for domain', 'domain', 'hard'],
  ['550 5.7.27 Host does not accept mail', 'domain', 'hard'],
  ['550 5.1.1 max message size exceeded', 'size', 'block'],
  ['552 5.1.1 mailbox is full', 'mailbox_full', 'soft'],
  ['550 <ada@example.ch> the account is full', 'mailbox_full', 'soft'],
  ['550 User has too many messages on the server.', 'mailbox_full', 'soft'],
  ['452 <ada@example.ch> Mailbox size limit exceeded', 'mailbox_full', 'soft'],
  ['550 Mail box space not enough', 'mailbox_full', 'soft'],
  ['550 User mailbox exceeds allowed size', 'mailbox_full', 'soft'],
  ['552 Bo\u00eete du destinataire pleine', 'mailbox_full', 'soft'],
  ['550 5.7.0 Espacio en casilla de mail agotado', 'mailbox_full', 'soft'],
  ['550 192.0.2.1 is not allowed to send mail from example.com', 'authentication', 'block'],
  ['550 Bad SPF records for [example.org:192.0.2.2]', 'authentication', 'block'],
  ['550 Unauthenticated senders not allowed', 'authentication', 'block'],
  ['571 No PTR Record found. Reverse DNS required', 'authentication', 'block'],
  ['550 Your account has been disabled', 'sender', 'block'],
  ['550 Sending service for this user suspended', 'sender', 'block'],
  ['550 <ada@example.ch>: user suspended', 'mailbox_disabled', 'soft'],
  ['550 Mailbox is frozen', 'mailbox_disabled', 'soft'],
  ['550 5.7.1 User ada@example.ch temporary locked', 'mailbox_disabled', 'soft'],
  ['550 Account temporarily disabled', 'mailbox_disabled', 'soft'],
  ['550 5.5.0 The recipient account is blocked.', 'mailbox_disabled', 'soft'],
  ['450 Account inactive', 'mailbox', 'soft'],
  ['550 <ada@example.ch> is a deactivated mailbox', 'mailbox_disabled', 'hard'],
  ['550 This address no longer accepts mail', 'mailbox_disabled', 'hard'],
  ['550 The user(s) account is disabled.', 'mailbox_disabled', 'hard'],
  ['550 Esta casilla ha expirado por falta de uso.', 'mailbox_disabled', 'hard'],
  ['550 Virus Detected; Content Rejected', 'content', 'block'],
  ['550 Denied due to spam list', 'content', 'block'],
  ['550 Probable Spam', 'content', 'block'],
  ['550 Spam detected', 'content', 'block'],
  ['553 Blocked using spam pattern, your message may contain the spam contents', 'content', 'block'],
  ['550-This message scored 8.4 spam points and has been rejected.', 'content', 'block'],
  ['550 This message scored 9.9 points.', 'content', 'block'],
  ['550 5.9.8 Spam', 'content', 'block'],
  ['451 SPAM not accepted', 'content', 'block'],
  ['550 5.7.1 Message content rejected, UBE, id=1', 'content', 'block'],
  ['550 Access from ip address 192.0.2.9 blocked', 'reputation', 'block'],
  ['550 Your server requires confirmation.', 'reputation', 'block'],
  // A word in an address or of the relay is not the server's text.
  ['550 <ada@spam.example>: user unknown', 'recipient_unknown', 'hard'],
  ['550 <spam@example.ch>: no such user', 'recipient_unknown', 'hard'],
  ['450 delivery temporarily suspended: connect to mx.example.ch: Connection refused', 'mailbox', 'soft'],
  ['550 5.7.1 Relaying denied', 'routing', 'block'],
  // A full disk of the server is not a full mailbox, and a specific code has priority over the text.
  ['452 4.3.1 Insufficient system storage', 'system', 'soft'],
  ['550 5.7.1 no reason given', 'policy', 'block'],
  ['550 5.2.2 user unknown', 'mailbox_full', 'soft'],
  ['550 5.5.3 too many recipients', 'rate', 'soft'],
  ['550 5.7.27 sender has null MX', 'sender', 'block'],
  ['550 5.4.1 Recipient address rejected: Access denied', 'network', 'soft'],
  ['550 go away', 'undetermined', 'soft'],
])
