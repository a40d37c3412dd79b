
?=;
ª»*chatJ
gen_ai.operation.name
chatJ
k*

v