/** Where `postern sendmail` hands over, apart from what takes it: the command starts in milliseconds and loads little. */
export const sendmailPath = '/v1/sendmail'
export const sendmailType = 'application/octet-stream'
