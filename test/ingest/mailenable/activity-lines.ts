/** Generated lines of a MailEnable activity log. */
export interface Told {
  readonly time?: string
  readonly direction?: 'SMTP-IN' | 'SMTP-OU'
  readonly file?: string
  readonly socket?: string
  readonly peer?: string
  readonly account?: string
  readonly subject?: string
}

/** One command with its reply. */
export const activityLine = (command: string, argument: string, reply: string, told: Told = {}): string => {
  const {
    time = '08/21/26 12:15:00',
    direction = 'SMTP-OU',
    file = 'A1.MAI',
    socket = '1',
    peer = '203.0.113.9',
    account = '',
    subject = '',
  } = told
  return [time, direction, file, socket, peer, command, argument, reply, '10', '20', account, subject].join('\t')
}

export const mailFrom = (address: string, told?: Told): string => activityLine('MAIL', `MAIL FROM:<${address}>`, '250 Ok', told)
export const rcptTo = (address: string, reply = '250 2.1.5 Ok', told?: Told): string =>
  activityLine('RCPT', `RCPT TO:<${address}>`, reply, told)
export const endOfData = (reply: string, told?: Told): string => activityLine('DATE', '.', reply, told)
