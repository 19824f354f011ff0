autocmd BufRead,BufNewFile *.fair setfiletype fair
autocmd BufRead,BufNewFile *.pml,*.promela,*.prm setfiletype promela
autocmd BufRead,BufNewFile *.csp setfiletype csp
